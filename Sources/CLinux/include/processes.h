/* Who a peer is, whether it still lives, starting children, and the clock. */
#pragma once

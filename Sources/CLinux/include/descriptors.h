/* Sealed memory, packet sockets and descriptors that travel over them. */
#pragma once

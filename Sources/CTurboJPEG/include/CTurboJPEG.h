/* libturbojpeg as it is: its API imports whole. */
#pragma once
#include <turbojpeg.h>

#include "descriptors.h"

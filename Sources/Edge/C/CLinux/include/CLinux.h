/* System calls that Glibc's Swift module lacks, one small header a subject. */
#pragma once
#include "descriptors.h"
#include "envelopes.h"
#include "files.h"
#include "intake.h"
#include "keeper.h"
#include "memory_room.h"
#include "microphones.h"
#include "own.h"
#include "processes.h"
#include "rights.h"
#include "wallclock.h"
#include "writing.h"

// <mach/vm_page_size.h>: the size of a page here.
#pragma once

#include <unistd.h>

#define vm_page_size ((unsigned long)sysconf(_SC_PAGESIZE))

// malloc_trim, which the module Glibc leaves out.
#include <malloc.h>

// Its header declares functions of files, too.
#include <stdio.h>
#include <bzlib.h>

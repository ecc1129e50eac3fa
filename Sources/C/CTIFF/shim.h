#include <stdio.h>
#include <tiffio.h>

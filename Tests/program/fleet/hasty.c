// A clock of seconds that goes 300 times as fast from the program's start.
#define _GNU_SOURCE
#include <time.h>

static time_t start;

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (start == 0) start = now.tv_sec;
  time_t result = start + (now.tv_sec - start) * 300 + now.tv_nsec * 3 / 10000000;
  if (place) *place = result;
  return result;
}

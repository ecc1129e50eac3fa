// A bare libcurl loop: asks for each line's address, and its range where it has one, as fast as some connections do.
//
//   ranges CONNECTIONS FILE   prints seconds and bytes; 1 where an answer is neither 200 nor 206
//
// A line is an address and, after a space, a range as curl takes it. Requests with ranges are signed by AWS_ACCESS_KEY_ID
// and AWS_SECRET_ACCESS_KEY.
#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct { char url[512], range[64]; } *lines;
static atomic_size_t next;
static size_t count;
static atomic_size_t bytes;
static char user[256];

static size_t drop(char *data, size_t size, size_t number, void *context) {
  (void)data; (void)context;
  atomic_fetch_add(&bytes, size * number);
  return size * number;
}

static void *loop(void *context) {
  (void)context;
  CURL *curl = curl_easy_init();
  struct curl_slist *headers =
      curl_slist_append(NULL, "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (size_t at; (at = atomic_fetch_add(&next, 1)) < count;) {
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, lines[at].url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (lines[at].range[0]) {
      curl_easy_setopt(curl, CURLOPT_RANGE, lines[at].range);
      curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3");
      curl_easy_setopt(curl, CURLOPT_USERPWD, user);
      curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    }
    long status = 0;
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status != (lines[at].range[0] ? 206 : 200)) {
      fprintf(stderr, "%s %s: %d, status %ld\n", lines[at].url, lines[at].range, code, status);
      exit(1);
    }
  }
  curl_easy_cleanup(curl);
  curl_slist_free_all(headers);
  return NULL;
}

int main(int argc, char **argv) {
  int connections = argc == 3 ? atoi(argv[1]) : 0;
  FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;
  if (connections < 1 || connections > 64 || !file) return 2;
  char line[640];
  while (fgets(line, sizeof line, file)) {
    if (!(count & (count - 1))) lines = realloc(lines, (count ? 2 * count : 1) * sizeof *lines);
    if (!lines) return 2;
    lines[count].range[0] = 0;
    if (sscanf(line, "%511s %63s", lines[count].url, lines[count].range) < 1) return 2;
    count++;
  }
  const char *key = getenv("AWS_ACCESS_KEY_ID"), *secret = getenv("AWS_SECRET_ACCESS_KEY");
  snprintf(user, sizeof user, "%s:%s", key ? key : "", secret ? secret : "");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  pthread_t threads[64];
  for (int each = 0; each < connections; each++) if (pthread_create(&threads[each], NULL, loop, NULL)) return 2;
  for (int each = 0; each < connections; each++) pthread_join(threads[each], NULL);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  printf("%.6f %zu\n", ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9, (size_t)bytes);
  return 0;
}

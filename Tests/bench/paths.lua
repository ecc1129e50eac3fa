-- wrk script: asks for the paths in the file named after "--", each thread from another place in the list.
-- Requests are written out once, so that this script costs as little as it can.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  requests = {}
  for path in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  position = math.floor(#requests / 2) * number
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests": %d, "rate": %f, "p50": %f, "p99": %f, "bytes": %d, "errors": %d}',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50), latency:percentile(99),
    summary.bytes, errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end

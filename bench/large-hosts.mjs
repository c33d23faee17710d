/**
 * Hosts for a preset, with capacity for more servers than a benchmark creates. Requests that fail for lack of capacity
 * would be faster than successful ones.
 */
export const largeHosts = Array.from({ length: 4 }, (_, i) => ({
  name: `host${i}`,
  vcpus: 100_000,
  memoryMb: 2 ** 30,
  diskGb: 2 ** 30,
}));

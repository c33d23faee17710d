/** Hosts of a preset with room for more servers than a bench makes: where there is none, a create is measured that fails. */
export const largeHosts = Array.from({ length: 4 }, (_, i) => ({
  name: `host${i}`,
  vcpus: 100_000,
  memoryMb: 2 ** 30,
  diskGb: 2 ** 30,
}));

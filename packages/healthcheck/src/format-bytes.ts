const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a number of bytes: `512 bytes`, `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

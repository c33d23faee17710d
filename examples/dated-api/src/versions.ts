import type { VersionRecord } from '@apistrata/microversion';

const guide = 'https://example.com/guides/upgrading';

/** All API versions, oldest first. Deprecated versions have a sunset date, an upgrade guide and brown-outs. */
export const versions: readonly VersionRecord[] = [
  {
    version: '2023-11-01',
    deprecated: '2025-12-01',
    sunset: '2027-01-31',
    guide,
    brownouts: [{ from: '2027-01-12T09:00:00Z', to: '2027-01-12T10:00:00Z' }],
  },
  { version: '2024-03-15', deprecated: '2026-06-30', sunset: '2027-06-30', guide },
  { version: '2024-09-01' },
  { version: '2025-04-10' },
  { version: '2025-12-01' },
  { version: '2026-06-30' },
];

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Check } from '../check.js';
import { type LimitOptions, limitResult, timingOf, validateLimits } from './limit-options.js';

const DAY_MS = 86_400_000;

/** Options for `certificate()`. */
export interface CertificateOptions extends LimitOptions {
  /** The minimum number of days until the certificate expires. Default 14. */
  readonly minDays?: number;
}

/** Creates a check that fails if the first certificate in a PEM file is not valid or expires too soon. */
export function certificate(file: string, options: CertificateOptions = {}): Check {
  validateLimits('certificate', options, ['minDays']);
  const { name = `certificate:${file}`, minDays = 14 } = options;
  return {
    name,
    ...timingOf(options, 60_000),
    async check() {
      const { validFrom, validTo } = new X509Certificate(await readFile(file));
      const daysLeft = (Date.parse(validTo) - Date.now()) / DAY_MS;
      const hasValidityStarted = Date.parse(validFrom) <= Date.now();
      const details = `${file} is valid from ${validFrom} to ${validTo}; at least ${minDays} more days are required`;
      const reason = !hasValidityStarted
        ? 'CERTIFICATE NOT YET VALID'
        : daysLeft <= 0
          ? 'CERTIFICATE EXPIRED'
          : 'CERTIFICATE EXPIRES';
      return limitResult(hasValidityStarted && daysLeft >= minDays, reason, details, options);
    },
  };
}

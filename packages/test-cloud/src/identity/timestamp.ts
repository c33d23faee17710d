import { z } from 'zod';
import { parseTimestamp } from '../service/filter.js';

/** A timestamp in a request, in fractional milliseconds, because the identity service stores microseconds. */
export const Timestamp = z
  .string()
  .refine((written) => !Number.isNaN(parseTimestamp(written)), 'is not a date')
  .transform(parseTimestamp);

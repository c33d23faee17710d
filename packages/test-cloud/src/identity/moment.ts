import { z } from 'zod';
import { momentOf } from '../service/filter.js';

/** A moment in a body, as milliseconds with a fraction: the identity service keeps microseconds. */
export const Moment = z
  .string()
  .refine((written) => !Number.isNaN(momentOf(written)), 'is not a date')
  .transform(momentOf);

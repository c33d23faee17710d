import { z } from 'zod';

/** The schemas that resources of several services share. */

export const text = z.string().max(255);
export const longText = z.string().max(1024);
/** An id in any format. */
export const anyId = z.string().min(1).max(255);

/** A boolean in any spelling that clients use. */
export const flag = z.union(
  [
    z.boolean(),
    z.enum(['true', 'True', 'TRUE', '1', 'yes', 'on', 't']).transform(() => true),
    z.enum(['false', 'False', 'FALSE', '0', 'no', 'off', 'f']).transform(() => false),
    z.literal(1).transform(() => true),
    z.literal(0).transform(() => false),
  ],
  'cannot be converted to boolean',
);

/** A JSON boolean; other spellings are rejected. */
export const strictFlag = z.boolean();

/** An integer, as a number or a string. */
export const integer = z.union(
  [
    z.number().int(),
    z
      .string()
      .regex(/^-?\d+$/)
      .transform(Number),
  ],
  'is not an integer',
);
export const count = integer.refine((value) => value >= 0, 'should be non-negative');
export const integerBetween = (min: number, max: number) =>
  integer.refine((value) => value >= min && value <= max, `is not in range ${min} through ${max}`);

export const anything = z.unknown();
export const dictionary = z.record(z.string(), z.unknown());

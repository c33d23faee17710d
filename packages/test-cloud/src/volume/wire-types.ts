import { z } from 'zod';
import { text } from '../service/wire-types.js';

/** The schemas of the volume API. */

export const object = z.strictObject;

/** A UUID with or without hyphens. */
export const uuid = z.string().regex(/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i, 'is not a UUID');

/** A boolean, or a string that represents one. */
export const boolean = z.union([
  z.boolean(),
  z
    .string()
    .regex(/^(true|1|on|yes|y|t|false|0|off|no|n|f)$/i, 'cannot be converted to boolean')
    .transform((written) => /^(true|1|on|yes|y|t)$/i.test(written)),
]);

/** A name or a description of a resource. */
export const optionalText = text.trim().nullable();

/** A required name of a resource. */
export const requiredName = text.min(1).refine((name) => name.trim() !== '', "The 'name' can not be empty.");

const stringMap = (keys: RegExp) => z.record(z.string().regex(keys), text);

/** The metadata of a resource. */
export const metadata = stringMap(/^[\w:. /-]{1,255}$/);

/** The specs of a volume or group type. */
export const specs = stringMap(/^[\w:.-]{1,255}$/);

/** A size in GiB, as a number or a string. */
export const size = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).pipe(
  z
    .int()
    .min(1)
    .max(2 ** 31 - 1),
);

export const zone = text.trim().min(1).nullable();

/** A list without duplicates. */
export const uniqueList = <T>(item: z.ZodType<T>) =>
  z.array(item).refine((items) => new Set(items).size === items.length, 'has non-unique elements');

import { isIP } from 'node:net';
import { canonicalIp } from '@apistrata/compute-engine/api';
import { z } from 'zod';
import { isStorable, STORABLE_RULE } from './storable-text.js';

/**
 * Schemas that several request fields share. Their names and rules follow the API's own parameter types. Handlers
 * receive converted values: numbers instead of decimal strings, and booleans instead of strings.
 */

const TRUE_VALUES = ['True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes'] as const;
const FALSE_VALUES = ['False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no'] as const;

/** Schema for the value of an action without arguments. */
export const anyValue = z.unknown().describe('Any value. By convention, null.');

/** Schema for a boolean, or a string that the API accepts as a boolean. */
export const lenientBoolean = z.union([
  z.boolean(),
  z.enum([...TRUE_VALUES, ...FALSE_VALUES]).transform((text) => TRUE_VALUES.includes(text as never)),
]);

/** Schema for an integer between two bounds, or its decimal string. */
export function lenientInteger(min: number, max: number) {
  const integerInRange = z.int().min(min).max(max);
  const text = z
    .string()
    .regex(min < 0 ? /^-?[0-9]+$/ : /^[0-9]+$/)
    .transform(Number)
    .pipe(integerInRange);
  return z.union([integerInRange, text]);
}

const MAX_INT = 2_147_483_647;

export const positiveInteger = lenientInteger(1, MAX_INT);
export const nonNegativeInteger = lenientInteger(0, MAX_INT);
/** Schema for a quota value. -1 means unlimited. */
export const quotaValue = lenientInteger(-1, MAX_INT);

/**
 * A printable character: every assigned character of the basic multilingual plane except control, format, private-use
 * and surrogate characters. Spaces are the only printable separators. `NAME_PATTERN` does not allow a space at either
 * end.
 */
const PRINTABLE_CHARACTER = '[^\\p{C}\\p{Zl}\\p{Zp}\\u{10000}-\\u{10FFFF}]';
const VISIBLE_CHARACTER = '[^\\p{C}\\p{Z}\\u{10000}-\\u{10FFFF}]';
const NAME_PATTERN = new RegExp(`^${VISIBLE_CHARACTER}(?:${PRINTABLE_CHARACTER}*${VISIBLE_CHARACTER})?$`, 'u');
/** A name that may have spaces at both ends and a trailing line feed. */
const NAME_WITH_SPACES_PATTERN = new RegExp(
  `^${PRINTABLE_CHARACTER}*${VISIBLE_CHARACTER}${PRINTABLE_CHARACTER}*\\n?$`,
  'u',
);
const DESCRIPTION_PATTERN = new RegExp(`^${PRINTABLE_CHARACTER}*\\n?$`, 'u');

function nameSchema(pattern: RegExp, message: string) {
  return z
    .string()
    .min(1)
    .max(255)
    .refine((text) => pattern.test(text), { message });
}

const NAME_RULE =
  'The string is not a valid name: only printable characters are allowed, without leading or trailing whitespace';
export const name = nameSchema(NAME_PATTERN, NAME_RULE);
export const azName = nameSchema(NAME_PATTERN, NAME_RULE).refine((text) => !text.includes(':'), {
  message: `${NAME_RULE}; colons are not allowed`,
});
/** Schema for a name from which leading and trailing spaces are removed. */
export const nameWithSpaces = nameSchema(NAME_WITH_SPACES_PATTERN, NAME_RULE).transform((text) => text.trim());
export const keypairName = nameSchema(/^(?! )[A-Za-z0-9 _-]+(?<! )$/, 'Only expected characters: [A-Za-z0-9_- ]');
export const keypairNameSince292 = nameSchema(
  /^(?! )[A-Za-z0-9 _.@-]+(?<! )$/,
  'Only expected characters: [A-Za-z0-9@._- ]',
);

/** Schema for printable text or null. It accepts a trailing line feed, which some tools add. */
export function description(max = 255) {
  return z
    .string()
    .max(max)
    .refine((text) => DESCRIPTION_PATTERN.test(text), { message: 'Only printable characters are allowed' })
    .nullable();
}

export const hostnameLabel = z
  .string()
  .min(2)
  .max(63)
  .regex(/^[a-zA-Z0-9]+[a-zA-Z0-9-]*[a-zA-Z0-9]+$/);
export const fqdn = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9._-]*$/);

const METADATA_KEY_PATTERN = /^[a-zA-Z0-9\-_:. ]{1,255}$/;

function metadataRecord<T extends z.ZodType>(value: T) {
  return z.record(z.string(), value).superRefine((items, context) => {
    for (const key of Object.keys(items)) {
      if (!METADATA_KEY_PATTERN.test(key))
        context.addIssue({
          code: 'custom',
          path: [],
          message: `'${key}' does not match any of the regexes: '${METADATA_KEY_PATTERN.source}'`,
        });
    }
  });
}

const metadataValue = z.string().max(255).refine(isStorable, STORABLE_RULE);

export const metadata = metadataRecord(metadataValue);
export const metadataWithNull = metadataRecord(metadataValue.nullable());
/** Schema for extra specs and other metadata whose values may be numbers. Numbers are converted to strings. */
export const metadataWithNumbers = metadataRecord(z.union([z.string().max(255), z.number().transform(String)]));

export const tag = z
  .string()
  .min(1)
  .max(60)
  .regex(/^[^,/]*$/)
  .refine(isStorable, STORABLE_RULE);

export const trustedCerts = z
  .array(z.string().min(1))
  .min(1)
  .max(50)
  .refine((list) => new Set(list).size === list.length, { message: 'The list has non-unique elements' })
  .nullable();

const BASE64_PATTERN = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
export const base64 = z
  .string()
  .refine((text) => BASE64_PATTERN.test(text.replaceAll(/\s/g, '')), { message: "The string is not valid 'base64'" });
export const userData = base64.max(65535);
export const personality = z.array(
  z.strictObject({
    path: z.string().describe('Path of the file in the guest.'),
    contents: base64.describe('Content of the file, Base64-encoded.'),
  }),
);

export const ipv4 = z.string().refine((text) => isIP(text) === 4, { message: "The string is not a 'ipv4'" });
/** Schema for an IPv6 address in any notation, without a zone id. It is converted to canonical form. */
export const ipv6 = z
  .string()
  .refine((text) => isIP(text) === 6 && !text.includes('%'), { message: "The string is not a 'ipv6'" })
  .transform(canonicalIp);
export const ip = z
  .string()
  .refine((text) => isIP(text) > 0 && !text.includes('%'), { message: 'The string is not an IP address' });

/** Schema for a UUID in upper or lower case, with or without dashes. It is converted to lower case with dashes. */
export const uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/, {
    message: "The string is not a 'uuid'",
  })
  .transform((text) =>
    text
      .toLowerCase()
      .replaceAll('-', '')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  );

export const idString = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9-]*$/);
export const diskConfig = z.enum(['AUTO', 'MANUAL']);

/** Schema for a page size in a query string. */
export const limitSchema = z
  .string()
  .min(1)
  .regex(/^[0-9]*$/)
  // In a query string, every value is text. The OpenAPI document declares the number that the text represents.
  .meta({ type: 'integer', minimum: 0, minLength: undefined, pattern: undefined })
  .transform(Number);

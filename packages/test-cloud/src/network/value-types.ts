import { parseCidr, parseIp } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import { integer } from '../service/wire-types.js';

/** An id, with or without hyphens. */
export const uuid = z.string().regex(/^[\da-f]{8}(-?[\da-f]{4}){3}-?[\da-f]{12}$/i, 'is not a valid UUID');

export const address = z.string().refine((value) => parseIp(value) !== undefined, 'is not a valid IP address');

export const prefix = z.string().refine((value) => parseCidr(value) !== undefined, 'is not a valid IP subnet');

/** A relative or absolute DNS name; the suffix states which. */
const dnsName = (suffix: string) => {
  const label = '(?!-)[\\da-z-]{1,63}(?<!-)';
  return z
    .string()
    .max(255)
    .transform((name) => name.toLowerCase())
    .pipe(z.string().regex(new RegExp(`^(${label}(\\.${label})*${suffix})?$`), 'not a valid PQDN or FQDN'));
};

export const hostName = dnsName('\\.?');
export const relativeName = dnsName('');
export const domainName = dnsName('\\.');

/** 4 or 6, as a number or text. */
export const ipVersion = integer.refine((version) => version === 4 || version === 6, 'is not in valid_values');

export const mac = z
  .string()
  .regex(/^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/, 'is not a valid MAC address')
  .transform((written) => written.toLowerCase().replaceAll('-', ':'));

/** A list without duplicates. */
export const uniqueList = <S extends z.ZodType>(item: S) =>
  z
    .array(item)
    .refine(
      (items) => new Set(items.map((one) => JSON.stringify(one))).size === items.length,
      'has duplicate items in the list',
    );

/** A list without duplicates; null is an empty one. */
export const listOrNull = <S extends z.ZodType>(item: S) =>
  uniqueList(item)
    .nullable()
    .transform((items) => items ?? []);

/** A route: packets to the prefix are sent to the next hop. */
export const route = z.strictObject({ destination: prefix, nexthop: address });

/** An address of a port; the service chooses what is missing. */
export const fixedIp = z.strictObject({ ip_address: address.optional(), subnet_id: uuid.optional() });

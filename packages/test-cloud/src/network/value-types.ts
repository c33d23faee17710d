import { parseCidr, parseIp } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import { integer } from '../service/wire-types.js';

/** A UUID, with or without hyphens. */
export const uuid = z.string().regex(/^[\da-f]{8}(-?[\da-f]{4}){3}-?[\da-f]{12}$/i, 'is not a valid UUID');

export const address = z.string().refine((value) => parseIp(value) !== undefined, 'is not a valid IP address');

export const prefix = z.string().refine((value) => parseCidr(value) !== undefined, 'is not a valid IP subnet');

/** Returns the schema of a DNS name. @param suffix a pattern for the end of the name, such as the dot of an FQDN */
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

/** An IP version: 4 or 6, as a number or a string. */
export const ipVersion = integer.refine((version) => version === 4 || version === 6, 'is not in valid_values');

export const mac = z
  .string()
  .regex(/^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/, 'is not a valid MAC address')
  .transform((written) => written.toLowerCase().replaceAll('-', ':'));

/** Returns the schema of a list whose items must be unique. */
export const uniqueList = <S extends z.ZodType>(item: S) =>
  z
    .array(item)
    .refine(
      (items) => new Set(items.map((one) => JSON.stringify(one))).size === items.length,
      'has duplicate items in the list',
    );

/** Returns the schema of a list without duplicates. Null becomes an empty list. */
export const nullableList = <S extends z.ZodType>(item: S) =>
  uniqueList(item)
    .nullable()
    .transform((items) => items ?? []);

/** A static route, which sends packets for the destination prefix to the next hop. */
export const route = z.strictObject({ destination: prefix, nexthop: address });

/** A requested fixed IP of a port. If the subnet or address is missing, the service chooses it. */
export const fixedIp = z.strictObject({ ip_address: address.optional(), subnet_id: uuid.optional() });

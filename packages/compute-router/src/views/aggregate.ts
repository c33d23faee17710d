import type { Aggregate } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { field, type ViewShape, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';

/** Descriptions of fields that occur in several places. */
export const aggregateTexts = {
  aggregate: 'An aggregate.',
  name: 'Name of the aggregate. Unique.',
  availabilityZone: 'Availability zone of the hosts in the aggregate, or null.',
} as const;

const created: ViewShape<Aggregate, ComputeCall> = {
  id: described(
    'ID of the aggregate: an integer, used in paths.',
    field(z.int(), (a) => a.seq),
  ),
  name: described(
    aggregateTexts.name,
    field(z.string(), (a) => a.name),
  ),
  availability_zone: described(
    aggregateTexts.availabilityZone,
    field(type.nullableText, (a) => a.metadata.availability_zone ?? null),
  ),
  created_at: described(
    commonTexts.createdAt,
    field(type.time, (a) => type.showTime(a.createdAt)),
  ),
  updated_at: described(
    commonTexts.updatedAt,
    field(type.nullableTime, (a) => type.showNullableTime(a.updatedAt)),
  ),
  deleted: described(
    commonTexts.deleted,
    field(z.literal(false), () => false as const),
  ),
  deleted_at: described(
    commonTexts.deletedAt,
    field(z.null(), () => null),
  ),
  uuid: since(
    '2.41',
    described(
      'UUID of the aggregate, as used by the placement service.',
      field(z.string(), (a) => a.id),
    ),
  ),
};

/** The response to a creation, without hosts and metadata. */
export const aggregateCreated = view<Aggregate, ComputeCall>(created);

export const aggregate = view<Aggregate, ComputeCall>({
  ...created,
  hosts: described(
    'Names of the hosts in the aggregate.',
    field(z.array(z.string()), (a) => [...a.hosts]),
  ),
  metadata: described(
    'Key-value pairs that scheduler filters compare with flavors and images.',
    field(type.textMap, (a) => a.metadata),
  ),
});

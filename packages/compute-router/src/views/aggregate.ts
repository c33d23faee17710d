import type { Aggregate } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';
import { alwaysNull, field, integer, nullableText, nullableTime, text, time } from './fields.js';

/** OpenAPI descriptions that several fields share. */
export const aggregateTexts = {
  aggregate: 'An aggregate.',
  name: 'Unique name of the aggregate.',
  availabilityZone: 'Availability zone to which the hosts in the aggregate belong, or null.',
} as const;

const createdShape: ViewShape<Aggregate, ComputeCall> = {
  id: integer('Integer ID of the aggregate, used in paths.', (a) => a.seq),
  name: text(aggregateTexts.name, (a) => a.name),
  availability_zone: nullableText(aggregateTexts.availabilityZone, (a) => a.metadata.availability_zone ?? null),
  created_at: time(commonTexts.createdAt, (a) => a.createdAt),
  updated_at: nullableTime(commonTexts.updatedAt, (a) => a.updatedAt),
  deleted: field(commonTexts.deleted, z.literal(false), () => false as const),
  deleted_at: alwaysNull(commonTexts.deletedAt),
  uuid: since(
    '2.41',
    text('UUID of the aggregate. The placement service uses this ID.', (a) => a.id),
  ),
};

/** The representation of a new aggregate, which does not contain hosts or metadata. */
export const createdAggregate = view<Aggregate, ComputeCall>(createdShape);

export const aggregate = view<Aggregate, ComputeCall>({
  ...createdShape,
  hosts: field('Names of the hosts in the aggregate.', z.array(z.string()), (a) => [...a.hosts]),
  metadata: field(
    'Metadata as key-value pairs, which scheduler filters compare with properties of flavors and images.',
    type.textMap,
    (a) => a.metadata,
  ),
});

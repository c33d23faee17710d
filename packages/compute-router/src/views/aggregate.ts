import type { Aggregate } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';
import { alwaysNull, field, integer, nullableText, nullableTime, text, time } from './fields.js';

/** Descriptions of fields that occur in several places. */
export const aggregateTexts = {
  aggregate: 'An aggregate.',
  name: 'Name of the aggregate. Unique.',
  availabilityZone: 'Availability zone of the hosts in the aggregate, or null.',
} as const;

const createdShape: ViewShape<Aggregate, ComputeCall> = {
  id: integer('ID of the aggregate: an integer, used in paths.', (a) => a.seq),
  name: text(aggregateTexts.name, (a) => a.name),
  availability_zone: nullableText(aggregateTexts.availabilityZone, (a) => a.metadata.availability_zone ?? null),
  created_at: time(commonTexts.createdAt, (a) => a.createdAt),
  updated_at: nullableTime(commonTexts.updatedAt, (a) => a.updatedAt),
  deleted: field(commonTexts.deleted, z.literal(false), () => false as const),
  deleted_at: alwaysNull(commonTexts.deletedAt),
  uuid: since(
    '2.41',
    text('UUID of the aggregate, as used by the placement service.', (a) => a.id),
  ),
};

/** An aggregate in the response to its creation, without hosts and metadata. */
export const aggregateCreated = view<Aggregate, ComputeCall>(createdShape);

export const aggregate = view<Aggregate, ComputeCall>({
  ...createdShape,
  hosts: field('Names of the hosts in the aggregate.', z.array(z.string()), (a) => [...a.hosts]),
  metadata: field(
    'Key-value pairs that scheduler filters compare with flavors and images.',
    type.textMap,
    (a) => a.metadata,
  ),
});

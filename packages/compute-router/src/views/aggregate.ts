import type { Aggregate } from '@apistrata/compute-engine';
import { since } from '@apistrata/microversion';
import { field, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

const created: ViewShape<Aggregate, ComputeCall> = {
  id: field(z.int(), (a) => a.seq),
  name: field(z.string(), (a) => a.name),
  availability_zone: field(type.nullableText, (a) => a.metadata.availability_zone ?? null),
  created_at: field(type.time, (a) => type.showTime(a.createdAt)),
  updated_at: field(type.nullableTime, (a) => type.showNullableTime(a.updatedAt)),
  deleted: field(z.literal(false), () => false as const),
  deleted_at: field(z.null(), () => null),
  uuid: since(
    '2.41',
    field(z.string(), (a) => a.id),
  ),
};

/** The response to a creation, without hosts and metadata. */
export const aggregateCreated = view<Aggregate, ComputeCall>(created);

export const aggregate = view<Aggregate, ComputeCall>({
  ...created,
  hosts: field(z.array(z.string()), (a) => [...a.hosts]),
  metadata: field(type.textMap, (a) => a.metadata),
});

import { Rejection } from '@apistrata/compute-engine';
import type { QuotaValues } from '@apistrata/compute-engine/api';
import { described, object } from '@apistrata/microversion/schema';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { quotaValue } from '../schemas/types.js';
import { changedQuotaClass, quotaClassBody, quotasText, shownQuotaClass } from '../views/quota.js';

const quotaClassDocs = resource({
  tag: 'quota-classes',
  parameters: { id: 'Name of the quota class. Any name is accepted, but only the class `default` has an effect.' },
});

const path = '/os-quota-class-sets/{id}';
const MAX_NAME_LENGTH = 255;

export const quotaClassOperations = [
  operation({
    ...quotaClassDocs,
    name: 'showQuotaClassSet',
    method: 'GET',
    path,
    summary: 'Show the quotas of a quota class',
    description: 'Shows the quotas of a quota class.',
    policy: 'os_compute_api:os-quota-class-sets:show',
    status: 200,
    reply: { quota_class_set: described(quotasText, shownQuotaClass) },
    run: async ({ engine, params: { id } }) => ({
      quota_class_set: { id, limits: await engine.quotas.classLimits(id) },
    }),
  }),
  operation({
    ...quotaClassDocs,
    name: 'updateQuotaClassSet',
    method: 'PUT',
    path,
    summary: 'Update the quotas of a quota class',
    description: 'Updates the quotas of a quota class.',
    policy: 'os_compute_api:os-quota-class-sets:update',
    status: 200,
    errors: [400],
    body: object({ quota_class_set: described(quotasText, object(quotaClassBody(quotaValue.optional()))) }),
    reply: { quota_class_set: described(quotasText, changedQuotaClass) },
    run: async ({ engine, params: { id }, body }) => {
      if (id.length > MAX_NAME_LENGTH)
        throw new Rejection(
          'BAD_REQUEST',
          `quota_class_name has ${id.length} characters, more than ${MAX_NAME_LENGTH}.`,
        );
      const { networks: _, ...limits } = body.quota_class_set as Readonly<Record<string, number | undefined>>;
      await engine.quotas.setClass(id, limits as Partial<QuotaValues>);
      return { quota_class_set: { id, limits: await engine.quotas.classLimits(id) } };
    },
  }),
];

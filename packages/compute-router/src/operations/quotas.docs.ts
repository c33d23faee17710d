import { resource } from '../reference/resource.js';

const NETWORKING = 'Counted by the networking service.';

const resources: Readonly<Record<string, string>> = {
  cores: 'Number of virtual CPUs of all servers.',
  instances: 'Number of servers.',
  key_pairs: 'Number of key pairs per user.',
  metadata_items: 'Number of metadata items per server.',
  ram: 'Memory of all servers, in MiB.',
  server_groups: 'Number of server groups.',
  server_group_members: 'Number of servers per server group.',
  injected_files: 'Number of injected files per server.',
  injected_file_content_bytes: 'Size of an injected file, in bytes.',
  injected_file_path_bytes: 'Length of the path of an injected file, in bytes.',
  fixed_ips: `Number of fixed IP addresses. ${NETWORKING}`,
  floating_ips: `Number of floating IP addresses. ${NETWORKING}`,
  security_groups: `Number of security groups. ${NETWORKING}`,
  security_group_rules: `Number of rules per security group. ${NETWORKING}`,
  networks: `Number of networks. ${NETWORKING}`,
};

export const quotaSetDocs = resource({
  tag: 'quota-sets',
  parameters: { id: 'ID of the project.' },
  fields: {
    ...resources,
    in_use: 'Current usage.',
    limit: 'The quota. -1 means unlimited.',
    reserved: 'Amount reserved by requests in progress. Always 0, because usage is counted from existing resources.',
    'query.user_id': 'ID of a user. If present, the request applies to the quotas of this user in the project.',
    quota_set: 'Quotas by resource. -1 means unlimited.',
    'quota_set.id': 'ID of the project.',
    'quota_set.force': 'Whether to accept quotas below the current usage. Default: false.',
  },
});

export const quotaClassDocs = resource({
  tag: 'quota-classes',
  parameters: { id: 'Name of the quota class. Any name is accepted; only `default` has an effect.' },
  fields: {
    ...resources,
    quota_class_set: 'Quotas by resource. -1 means unlimited.',
    'quota_class_set.id': 'Name of the quota class.',
  },
});

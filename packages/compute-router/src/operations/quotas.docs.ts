import type { Resource } from '../description/resource.js';

const resources: Readonly<Record<string, string>> = {
  cores: 'Virtual processors of all servers',
  instances: 'Servers',
  key_pairs: 'Key pairs of a user',
  metadata_items: 'Metadata items of a server',
  ram: 'Memory of all servers, in MiB',
  server_groups: 'Server groups. Shown for classes since 2.50, where they had been left out by mistake',
  server_group_members: 'Servers of a group. Shown for classes since 2.50, where they had been left out by mistake',
  injected_files: 'Files to write into a server. Gone in 2.57, as such files are',
  injected_file_content_bytes: 'Bytes of such a file. Gone in 2.57, as such files are',
  injected_file_path_bytes: 'Characters of the path of such a file. Gone in 2.57, as such files are',
  fixed_ips: 'Fixed addresses; counted by the networking service today. Gone in 2.36',
  floating_ips: 'Floating addresses; counted by the networking service today. Gone in 2.36',
  security_groups: 'Security groups; counted by the networking service today. Gone in 2.36',
  security_group_rules: 'Rules of a security group; counted by the networking service today. Gone in 2.36',
  networks: 'Networks; counted by the networking service today. Gone in 2.36',
};

export const quotaSetDocs: Resource = {
  tag: 'quota-sets',
  about: 'How much a project, or a user in it, may use.',
  parameters: { id: 'Id of the project' },
  operations: {
    'GET /os-quota-sets/{id}': [
      'showQuotaSet',
      'The quotas of a project, or of a user in it; what was never set is the default.',
    ],
    'GET /os-quota-sets/{id}/detail': ['showQuotaSetDetail', 'The same, each with what is used of it.'],
    'GET /os-quota-sets/{id}/defaults': ['showQuotaSetDefaults', 'The quotas of projects that have none of their own.'],
    'PUT /os-quota-sets/{id}': [
      'updateQuotaSet',
      'Sets quotas. One below what is used already is refused, unless it is forced.',
      {
        400: 'The body is malformed, the project does not exist, or less would be allowed than is used or than a user of the project has',
      },
    ],
    'DELETE /os-quota-sets/{id}': ['deleteQuotaSet', 'Gives the project, or a user in it, the default quotas again.'],
  },
  fields: {
    ...resources,
    in_use: 'How much is used',
    limit: 'How much may be used; -1 is unlimited',
    reserved: 'How much is promised to requests under way; always 0, since use is counted from what there is',
    'query.user_id': 'Id of a user whose own quotas in the project are meant',
    quota_set: 'Quotas: how much of each may be used; -1 is unlimited',
    'quota_set.id': 'Id of the project',
    'quota_set.force': 'Whether a quota below what is used is accepted; default false',
  },
};

export const quotaClassDocs: Resource = {
  tag: 'quota-classes',
  about: 'Quotas by class; the class `default` is that of projects with none of their own.',
  parameters: { id: 'Name of the class; any name is taken, and only `default` has an effect' },
  operations: {
    'GET /os-quota-class-sets/{id}': ['showQuotaClassSet', 'The quotas of a class.'],
    'PUT /os-quota-class-sets/{id}': ['updateQuotaClassSet', 'Sets quotas of a class.'],
  },
  fields: {
    ...resources,
    quota_class_set: 'Quotas: how much of each may be used; -1 is unlimited',
    'quota_class_set.id': 'Name of the class',
  },
};

export const limitsDocs: Resource = {
  tag: 'limits',
  about: 'What a project may use, and what it uses.',
  operations: {
    'GET /limits': [
      'showLimits',
      'The limits of a project with what is used of them. What other services count is gone from 2.36 on, files to write into servers from 2.57 on.',
    ],
  },
  fields: {
    'query.tenant_id': 'Id of the project, for administrators; default: that of the caller',
    limits: 'The limits',
    rate: 'Limits of requests per time; always empty, since other programs see to that',
    absolute: 'Limits of what may be used, -1 for unlimited, and what is used',
    maxImageMeta: 'Properties of an image. Gone in 2.39, with the proxy for them',
    maxPersonality: 'Files to write into a server. Gone in 2.57',
    maxPersonalitySize: 'Bytes of such a file. Gone in 2.57',
    maxSecurityGroups: 'Security groups. Gone in 2.36',
    maxSecurityGroupRules: 'Rules of a security group. Gone in 2.36',
    maxServerMeta: 'Metadata items of a server',
    maxServerGroups: 'Server groups',
    maxServerGroupMembers: 'Servers of a group',
    maxTotalCores: 'Virtual processors of all servers',
    maxTotalFloatingIps: 'Floating addresses. Gone in 2.36',
    maxTotalInstances: 'Servers',
    maxTotalKeypairs: 'Key pairs of a user',
    maxTotalRAMSize: 'Memory of all servers, in MiB',
    totalCoresUsed: 'Virtual processors in use',
    totalFloatingIpsUsed: 'Floating addresses in use. Gone in 2.36',
    totalInstancesUsed: 'Servers there are',
    totalRAMUsed: 'Memory in use, in MiB',
    totalSecurityGroupsUsed: 'Security groups there are. Gone in 2.36',
    totalServerGroupsUsed: 'Server groups there are',
  },
};

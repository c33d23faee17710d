import type { EmbeddedCatalogs, NewSecurityGroupRule } from '@apistrata/compute-engine';
import type { Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { envelope, GROUP, RULE } from './network-bodies.js';
import { ruleView, securityGroupView } from './network-views.js';
import { renamed } from './renamed.js';
import { resource } from './resource.js';

type Networks = () => EmbeddedCatalogs['networks'];

/** Null is as good as nothing in a rule. */
function said(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
}

/** Security groups and their rules. */
export function securityGroupRoutes(networks: Networks): readonly Route[] {
  return [
    ...resource({
      path: 'security-groups',
      many: 'security_groups',
      one: 'security_group',
      body: envelope('security_group', GROUP),
      change: envelope('security_group', GROUP),
      list: async ({ caller }) => (await networks().listSecurityGroups(caller)).map(securityGroupView),
      show: async ({ caller }, id) => securityGroupView(await networks().getSecurityGroup(caller, id)),
      create: async ({ caller }, { name, description, project_id, tenant_id }) => {
        if (name === undefined) throw badRequest('A security group needs a name.', 'HTTPBadRequest');
        const projectId = project_id ?? tenant_id;
        return securityGroupView(await networks().createSecurityGroup(caller, { name, description, projectId }));
      },
      update: async ({ caller }, id, { name, description }) =>
        securityGroupView(await networks().updateSecurityGroup(caller, id, { name, description })),
      remove: ({ caller }, id) => networks().deleteSecurityGroup(caller, id),
      setTags: ({ caller }, id, tags) => networks().updateSecurityGroup(caller, id, { tags }),
    }),
    ...resource({
      path: 'security-group-rules',
      many: 'security_group_rules',
      one: 'security_group_rule',
      body: envelope('security_group_rule', RULE),
      list: async ({ caller }) =>
        (await networks().listSecurityGroupRules(caller)).map((rule) => ruleView(rule, rule.projectId)),
      show: async ({ caller }, id) => {
        const rule = await networks().getSecurityGroupRule(caller, id);
        return ruleView(rule, rule.projectId);
      },
      create: async ({ caller }, body) => {
        const rule = await networks().createSecurityGroupRule(caller, renamed<NewSecurityGroupRule>(said(body)));
        return ruleView(rule, rule.projectId);
      },
      remove: ({ caller }, id) => networks().deleteSecurityGroupRule(caller, id),
    }),
  ];
}

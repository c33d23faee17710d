import type { CloudContext } from '../service/cloud-context.js';
import { formatMicrosUtc } from '../service/times.js';
import { catalogFor } from './catalog.js';
import { DEFAULT_DOMAIN, type Directory } from './directory.js';
import type { NamedRecord, Token } from './identity-records.js';

type Wire = Record<string, unknown>;

const summaryOf = (record: NamedRecord | undefined) => ({ id: record?.id, name: record?.name });

function scopeView({ state }: Directory, { scope, trustId }: Token): Wire {
  if (!scope) return {};
  if (scope.kind === 'system') return { system: { all: true } };
  if (scope.kind === 'domain') return { domain: summaryOf(state.domains.get(scope.id)) };
  const project = state.projects.get(scope.id);
  const domain = state.domains.get(project?.domain_id ?? DEFAULT_DOMAIN);
  const domainFlag = trustId ? {} : { is_domain: project?.is_domain === true };
  return { project: { ...summaryOf(project), domain: summaryOf(domain) }, ...domainFlag };
}

/**
 * Returns the identity service's representation of a token, without a catalog if the token is unscoped or the request
 * excludes the catalog.
 */
export function tokenView({ directory, documents }: CloudContext, token: Token, cloudUrl: string | undefined): Wire {
  const { state } = directory;
  const user = state.users.get(token.userId);
  const credential = token.applicationCredentialId && state.credentials.get(token.applicationCredentialId);
  const trust = token.trustId && state.trusts.get(token.trustId);
  const accessToken = token.accessTokenId && state.accessTokens.get(token.accessTokenId);
  const projectId = token.scope?.kind === 'project' ? token.scope.id : undefined;
  const catalogScope = { userId: trust ? trust.trustor_user_id : token.userId, projectId };
  const serviceProviders = [...documents.table('identity/service_providers').values()].filter(({ enabled }) => enabled);
  return {
    methods: token.methods,
    user: {
      ...summaryOf(user),
      domain: summaryOf(state.domains.get(user?.domain_id ?? DEFAULT_DOMAIN)),
      password_expires_at: null,
    },
    audit_ids: [token.auditId, ...(token.parentAuditId ? [token.parentAuditId] : [])],
    expires_at: formatMicrosUtc(token.expiresAt),
    issued_at: formatMicrosUtc(token.issuedAt),
    ...scopeView(directory, token),
    ...(token.scope && { roles: token.roleIds.map((id) => summaryOf(state.roles.get(id))) }),
    ...(token.scope && cloudUrl !== undefined && { catalog: catalogFor(documents, cloudUrl, catalogScope) }),
    ...(serviceProviders.length > 0 && {
      service_providers: serviceProviders.map(({ id, auth_url, sp_url }) => ({ id, auth_url, sp_url })),
    }),
    ...(trust && {
      'OS-TRUST:trust': {
        id: trust.id,
        impersonation: trust.impersonation,
        trustor_user: { id: trust.trustor_user_id },
        trustee_user: { id: trust.trustee_user_id },
      },
    }),
    ...(accessToken && { 'OS-OAUTH1': { access_token_id: accessToken.id, consumer_id: accessToken.consumerId } }),
    ...(credential && {
      application_credential: {
        id: credential.id,
        name: credential.name,
        restricted: !credential.unrestricted,
        ...(credential.accessRules && { access_rules: credential.accessRules }),
      },
    }),
  };
}

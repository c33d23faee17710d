/** Where the test cloud has a service, by the type it goes by in catalogs. */
const PREFIXES: Readonly<Record<string, string>> = {
  identity: 'identity',
  compute: 'compute',
  compute_legacy: 'compute',
  image: 'image',
  network: 'network',
  volume: 'volume',
  volumev2: 'volume',
  volumev3: 'volume',
  'block-storage': 'volume',
  'block-store': 'volume',
  placement: 'placement',
};

interface CatalogEndpoint {
  readonly interface?: string;
  readonly region_id?: string | null;
  readonly region?: string | null;
  readonly url?: string;
}

export interface UpstreamOptions {
  /** Of the identity service: `https://cloud.example.com:5000/v3`. */
  readonly authUrl: string;
  /** The region that is recorded; default: the first one a service has. */
  readonly region?: string;
  /** Which addresses requests go to; default `public`. */
  readonly interface?: string;
}

/** The address of a service without the version and what follows it. */
function rootOf(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname.replace(/\/v\d+(?:\.\d+)?(?:\/.*)?$/, '').replace(/\/+$/, '')}`;
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The services of a real cloud, each below a path of its own, as the test cloud has them. */
export class Upstream {
  readonly #options: UpstreamOptions;
  /** Where requests below a path go. */
  readonly #targets = new Map<string, string>();
  /** What stands in answers instead of the address of a service. */
  readonly #paths = new Map<string, string>();
  #roots: RegExp | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    const root = rootOf(options.authUrl);
    this.#targets.set('identity', root);
    this.#learnRoot(root, 'identity');
  }

  /** Where a request goes; undefined as long as no catalog has told of such a service. */
  target(path: string): string | undefined {
    const [, prefix = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(path) ?? [];
    const root = this.#targets.get(prefix);
    return root === undefined ? undefined : `${root}${rest === '' ? '/' : rest}`;
  }

  /** Reads the services from whatever an identity service answers: tokens and catalogs have them. */
  learn(answer: unknown): void {
    const body = answer as { token?: { catalog?: unknown }; catalog?: unknown } | null | undefined;
    const catalog = body?.token?.catalog ?? body?.catalog;
    if (!Array.isArray(catalog)) return;
    const { region, interface: requested = 'public' } = this.#options;
    for (const { type, endpoints } of catalog as { type?: unknown; endpoints?: readonly CatalogEndpoint[] }[]) {
      if (typeof type !== 'string' || !Array.isArray(endpoints)) continue;
      const prefix = PREFIXES[type] ?? type.replaceAll(/[^\w-]/g, '-');
      const regionOf = (endpoint: CatalogEndpoint) => endpoint.region_id ?? endpoint.region;
      const own = region ?? regionOf(endpoints[0] ?? {});
      for (const endpoint of endpoints as readonly CatalogEndpoint[]) {
        if (!endpoint.url || !URL.canParse(endpoint.url) || regionOf(endpoint) !== own) continue;
        const root = rootOf(endpoint.url);
        this.#learnRoot(root, prefix);
        if (endpoint.interface === requested && prefix !== 'identity') this.#targets.set(prefix, root);
      }
    }
  }

  /** The text with addresses of this proxy instead of the services' own. */
  rewrite(text: string, proxyUrl: string): string {
    this.#roots ??= new RegExp(
      `(?:${[...this.#paths.keys()]
        .sort((a, b) => b.length - a.length)
        .map(escaped)
        .join('|')})(?=[/"'?#\\s<]|$)`,
      'g',
    );
    return text.replace(this.#roots, (root) => `${proxyUrl}/${this.#paths.get(root)}`);
  }

  #learnRoot(root: string, prefix: string): void {
    if (this.#paths.has(root)) return;
    this.#paths.set(root, prefix);
    this.#roots = undefined;
  }
}

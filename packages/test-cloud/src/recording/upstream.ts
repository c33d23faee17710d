/** The first path segments of the test cloud's services, by service type in the catalog. */
const PATH_PREFIXES: Readonly<Record<string, string>> = {
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
  /** The URL of the identity service, such as `https://cloud.example.com:5000/v3`. */
  readonly authUrl: string;
  /** The region to record; default: each service's first region in the catalog. */
  readonly region?: string;
  /** The interface of the endpoints to which the recorder sends requests; default `public`. */
  readonly interface?: string;
}

/** Returns a service URL without the version and the path after it. */
function serviceRootOf(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname.replace(/\/v\d+(?:\.\d+)?(?:\/.*)?$/, '').replace(/\/+$/, '')}`;
}

const escapePattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Maps the services of a real cloud to their paths in the test cloud, and back. */
export class Upstream {
  readonly #options: UpstreamOptions;
  /** The service URLs to which requests are sent, by first path segment. */
  readonly #targets = new Map<string, string>();
  /** The first path segments, by the service URL that they replace in responses. */
  readonly #paths = new Map<string, string>();
  #roots: RegExp | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    const root = serviceRootOf(options.authUrl);
    this.#targets.set('identity', root);
    this.#addRoot(root, 'identity');
  }

  /** Returns the URL to which a request is sent; undefined until a catalog contains the service. */
  target(path: string): string | undefined {
    const [, prefix = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(path) ?? [];
    const root = this.#targets.get(prefix);
    return root === undefined ? undefined : `${root}${rest === '' ? '/' : rest}`;
  }

  /** Adds the services in a response from the identity service, if the response contains a catalog. */
  learn(response: unknown): void {
    const body = response as { token?: { catalog?: unknown }; catalog?: unknown } | null | undefined;
    const catalog = body?.token?.catalog ?? body?.catalog;
    if (!Array.isArray(catalog)) return;
    const { region, interface: requested = 'public' } = this.#options;
    for (const { type, endpoints } of catalog as { type?: unknown; endpoints?: readonly CatalogEndpoint[] }[]) {
      if (typeof type !== 'string' || !Array.isArray(endpoints)) continue;
      const prefix = PATH_PREFIXES[type] ?? type.replaceAll(/[^\w-]/g, '-');
      const regionOf = (endpoint: CatalogEndpoint) => endpoint.region_id ?? endpoint.region;
      const selectedRegion = region ?? regionOf(endpoints[0] ?? {});
      for (const endpoint of endpoints as readonly CatalogEndpoint[]) {
        if (!endpoint.url || !URL.canParse(endpoint.url) || regionOf(endpoint) !== selectedRegion) continue;
        const root = serviceRootOf(endpoint.url);
        this.#addRoot(root, prefix);
        if (endpoint.interface === requested && prefix !== 'identity') this.#targets.set(prefix, root);
      }
    }
  }

  /** Replaces all service URLs in text with the proxy's URLs. */
  rewrite(text: string, proxyUrl: string): string {
    this.#roots ??= new RegExp(
      `(?:${[...this.#paths.keys()]
        .sort((a, b) => b.length - a.length)
        .map(escapePattern)
        .join('|')})(?=[/"'?#\\s<]|$)`,
      'g',
    );
    return text.replace(this.#roots, (root) => `${proxyUrl}/${this.#paths.get(root)}`);
  }

  #addRoot(root: string, prefix: string): void {
    if (this.#paths.has(root)) return;
    this.#paths.set(root, prefix);
    this.#roots = undefined;
  }
}

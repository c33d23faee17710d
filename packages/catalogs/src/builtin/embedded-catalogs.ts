import type { Session, Store } from '@apistrata/record-store';
import { embeddedImages } from '../image/builtin/embedded-images.js';
import { embeddedNetworks } from '../network/builtin/embedded-networks.js';
import { embeddedShares } from '../share/builtin/embedded-shares.js';
import { embeddedVolumes } from '../volume/builtin/embedded-volumes.js';
import type { VolumeStorage } from '../volume/volume-storage.js';
import type { CatalogClock, UnknownIds } from './embedded-options.js';

export interface EmbeddedCatalogsOptions {
  readonly store: Store;
  readonly clock: CatalogClock;
  /** What each catalog does with ids that it has never seen. Default: it refuses them. */
  readonly unknown?: Partial<Readonly<Record<'images' | 'networks' | 'volumes' | 'shares', UnknownIds>>>;
  /** Where the content of images is kept; left out: in the database. */
  readonly imageDirectory?: string;
  /** Told of a server whose ports were changed through the network service itself. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Addresses of the hosts whose networks are joined by tunnels. Default: none. */
  readonly tunnelAddresses?: (session: Session) => Promise<readonly string[]>;
  /** Told of a server one of whose volumes has grown. */
  readonly onVolumeExtended?: (serverId: string, volumeId: string) => void;
  /** Where the content of volumes is, once it is known. */
  readonly volumeStorage?: () => VolumeStorage | undefined;
}

/**
 * Creates all four catalogs in one database.
 *
 * @example
 * ```ts
 * import { catalogChanges, embeddedCatalogs } from '@apistrata/catalogs/builtin';
 * import { openStore } from '@apistrata/record-store';
 *
 * const store = await openStore(':memory:', catalogChanges);
 * const { volumes } = embeddedCatalogs({ store, clock: { now: Date.now } });
 * ```
 */
export function embeddedCatalogs(options: EmbeddedCatalogsOptions) {
  const {
    store,
    clock,
    unknown = {},
    imageDirectory,
    onServerPortsChanged,
    tunnelAddresses,
    onVolumeExtended,
    volumeStorage: storage,
  } = options;
  const images = embeddedImages({ store, clock, unknown: unknown.images, directory: imageDirectory });
  return {
    images,
    networks: embeddedNetworks({ store, clock, unknown: unknown.networks, onServerPortsChanged, tunnelAddresses }),
    volumes: embeddedVolumes({ store, clock, unknown: unknown.volumes, images, onVolumeExtended, storage }),
    shares: embeddedShares({ store, clock, unknown: unknown.shares }),
  };
}

/** The catalogs in the database of an engine, with all that their own services need beside what servers do. */
export type EmbeddedCatalogs = ReturnType<typeof embeddedCatalogs>;

import type { Session, Store } from '@apistrata/record-store';
import { embeddedImages } from '../image/builtin/embedded-images.js';
import { embeddedNetworks } from '../network/builtin/embedded-networks.js';
import { embeddedShares } from '../share/builtin/embedded-shares.js';
import { embeddedVolumes } from '../volume/builtin/embedded-volumes.js';
import type { VolumeStorage } from '../volume/volume-storage.js';
import type { CatalogClock, UnknownIds } from './embedded-options.js';

/** Options of {@link embeddedCatalogs}. */
export interface EmbeddedCatalogsOptions {
  readonly store: Store;
  readonly clock: CatalogClock;
  /** What each catalog does with ids that it has never seen. Default: it refuses them. */
  readonly unknown?: Partial<Readonly<Record<'images' | 'networks' | 'volumes' | 'shares', UnknownIds>>>;
  /** The folder of image data. Default: the database. */
  readonly imageDirectory?: string;
  /** Called with the id of a server when the network service itself changes its ports. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Addresses of the hosts whose networks are joined by tunnels. Default: none. */
  readonly tunnelAddresses?: (session: Session) => Promise<readonly string[]>;
  /** Called when an attached volume has been extended. */
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

/** The built-in catalogs, with the methods that their own services need in addition to those that servers need. */
export type EmbeddedCatalogs = ReturnType<typeof embeddedCatalogs>;

import type { Session, Store } from '@apistrata/record-store';
import { type DocumentSeal, serviceDocuments } from '../documents/service-documents.js';
import { embeddedImages } from '../image/builtin/embedded-images.js';
import { embeddedNetworks } from '../network/builtin/embedded-networks.js';
import type { HostTunnel } from '../network/builtin/network-mtu.js';
import { embeddedShares } from '../share/builtin/embedded-shares.js';
import { embeddedVolumes } from '../volume/builtin/embedded-volumes.js';
import type { VolumeStorage } from '../volume/volume-storage.js';
import type { CatalogClock, UnknownIds } from './embedded-options.js';

/** Options of {@link embeddedCatalogs}. */
export interface EmbeddedCatalogsOptions {
  readonly store: Store;
  readonly clock: CatalogClock;
  /** How each catalog handles unknown ids. Default: `reject`. */
  readonly unknown?: Partial<Readonly<Record<'images' | 'networks' | 'volumes' | 'shares', UnknownIds>>>;
  /** The folder of image data. Default: the database. */
  readonly imageDirectory?: string;
  /** Called with the id of a server when the network service itself changes its ports. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Returns the tunnels of the hosts, which determine the MTU of networks. Default: none. */
  readonly hostTunnels?: (session: Session) => Promise<readonly HostTunnel[]>;
  /** Called when an attached volume has been extended. */
  readonly onVolumeExtended?: (serverId: string, volumeId: string) => void;
  /** Returns the storage of volume content, once it is available. */
  readonly volumeStorage?: () => VolumeStorage | undefined;
  /** Encrypts the documents of services at rest. Default: they are stored as they are. */
  readonly seal?: DocumentSeal;
}

/**
 * Creates all four catalogs in one database, and the documents of services that have no catalog.
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
    hostTunnels,
    onVolumeExtended,
    volumeStorage: storage,
    seal,
  } = options;
  const images = embeddedImages({ store, clock, unknown: unknown.images, directory: imageDirectory });
  return {
    images,
    networks: embeddedNetworks({ store, clock, unknown: unknown.networks, onServerPortsChanged, hostTunnels }),
    volumes: embeddedVolumes({ store, clock, unknown: unknown.volumes, images, onVolumeExtended, storage }),
    shares: embeddedShares({ store, clock, unknown: unknown.shares }),
    documents: serviceDocuments({ store, seal }),
  };
}

/** The built-in catalogs, with the methods that their own services need in addition to those that servers need. */
export type EmbeddedCatalogs = ReturnType<typeof embeddedCatalogs>;

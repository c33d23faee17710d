import type { Session, Store } from '@apistrata/record-store';
import { type DocumentSeal, serviceDocuments } from '../documents/service-documents.js';
import { embeddedImages } from '../image/builtin/embedded-images.js';
import { embeddedNetworks } from '../network/builtin/embedded-networks.js';
import type { HostTunnel } from '../network/builtin/network-mtu.js';
import { embeddedShares } from '../share/builtin/embedded-shares.js';
import { embeddedVolumes } from '../volume/builtin/embedded-volumes.js';
import type { VolumeStorage } from '../volume/volume-storage.js';
import type { CatalogClock, UnknownIdPolicy } from './embedded-options.js';

/** The options for {@link embeddedCatalogs}. */
export interface EmbeddedCatalogsOptions {
  readonly store: Store;
  readonly clock: CatalogClock;
  /** How each catalog handles requests for unknown ids. Default: `reject`. */
  readonly unknown?: Partial<Readonly<Record<'images' | 'networks' | 'volumes' | 'shares', UnknownIdPolicy>>>;
  /** The directory that stores image data. Default: the database stores the data. */
  readonly imageDirectory?: string;
  /** Called with the server's id when the network service itself changes the ports of a server. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Returns the tunnels between hosts, which determine the MTU of networks. Default: the hosts use no tunnels. */
  readonly hostTunnels?: (session: Session) => Promise<readonly HostTunnel[]>;
  /** Called with the ids of the server and the volume after an attached volume is extended. */
  readonly onVolumeExtended?: (serverId: string, volumeId: string) => void;
  /** Returns the driver that stores volume data, or undefined until it is available. */
  readonly volumeStorage?: () => VolumeStorage | undefined;
  /** Encrypts service documents at rest. Default: the documents are stored unencrypted. */
  readonly seal?: DocumentSeal;
}

/**
 * Creates all four catalogs in one database, and the document store for services without a catalog.
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

/** The built-in catalogs, including the methods that only the services' own APIs use. */
export type EmbeddedCatalogs = ReturnType<typeof embeddedCatalogs>;

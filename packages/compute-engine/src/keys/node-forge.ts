import { notSupported } from '../errors/refusal.js';

/**
 * The library that makes certificates: an optional peer, loaded when first needed, for few ever ask for a certificate.
 *
 * @throws Refusal `NOT_SUPPORTED` where it is not installed
 */
export async function nodeForge(load = () => import('node-forge')) {
  try {
    return (await load()).default;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw notSupported(
      'Key pairs of the type x509 cannot be generated here: the package node-forge is not installed. Import a certificate instead.',
    );
  }
}

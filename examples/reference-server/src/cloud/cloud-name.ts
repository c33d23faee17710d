/** The name of this server's cloud in clouds.yaml. */
export const CLOUD_NAME = 'apistrata';

/** The name of the cloud in clouds.yaml. */
export const CLOUD_NAME = 'apistrata';

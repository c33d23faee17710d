/** OpenAPI descriptions for path parameters that have the same meaning in every operation. */
export const commonParameters = {
  server_id: 'UUID of the server.',
  flavor_id: 'ID of the flavor (not its name).',
  image_id: 'UUID of the image.',
} as const;

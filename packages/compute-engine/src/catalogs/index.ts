export * from '@apistrata/catalogs';
export type * from '@apistrata/catalogs/builtin';
export * from '@apistrata/catalogs/http';

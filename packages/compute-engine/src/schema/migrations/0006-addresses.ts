import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * Creates a trigram index for substrings of addresses, like the index for names in migration 0003. Without this
 * index, queries read every address.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`
    do $$ begin
      create index servers_address_trigrams on servers using gin (addresses gin_trgm_ops) where deleted = 0;
    exception when others then
      raise notice 'addresses have no trigram index: %', sqlerrm;
    end $$`.execute(db);
}

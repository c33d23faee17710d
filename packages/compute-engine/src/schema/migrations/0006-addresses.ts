import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/** Parts of addresses by their trigrams too, as those of names in 0003: else every address in the database is read. */
export async function up(db: Kysely<Rows>): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`
    do $$ begin
      create index servers_address_trigrams on servers using gin (addresses gin_trgm_ops) where deleted = 0;
    exception when others then
      raise notice 'addresses have no trigram index: %', sqlerrm;
    end $$`.execute(db);
}

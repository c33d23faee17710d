import { type Compilable, type CompiledQuery, type InsertQueryBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { batchStatement } from '../batching/batch-statement.js';
import { insertRows, updateRows } from '../batching/many-rows.js';
import { preparedQuery } from '../batching/prepared-query.js';
import { yieldToEventLoop } from '../batching/yield-to-event-loop.js';
import { StaleRecord } from '../errors/stale-record.js';
import { ALL_PROJECTS } from '../replicas/latest-writes.js';
import type { Rows, Session, Tx } from '../store/database.js';
import { type ColumnValue, type DocumentTableSpec, newRevision, ownerOf, toColumn } from './document-table-spec.js';
import { type Row, rowsByKey } from './rows-by-key.js';
import type { New, Stored } from './stored.js';

/** The maximum number of records that are read and decoded in one turn of the event loop. */
const READ_BATCH_SIZE = 100;

/** The columns that identify a record and its revision. If `data` is missing, it is read separately. */
type RowHead = Pick<Row, 'id' | 'seq' | 'revision'> & Partial<Pick<Row, 'data'>>;

/** A query for rows that callers can extend before it is executed. */
export type RowQuery = SelectQueryBuilder<Rows, string, Row>;

/** A table that stores records of one kind: the record as JSON in `data`, and a few indexed columns. */
export class DocumentTable<R extends Stored> {
  readonly name: string;
  readonly #spec: DocumentTableSpec<R>;
  readonly #columns: readonly (readonly [string, (record: New<R>) => ColumnValue | boolean | undefined])[];
  readonly #defaults: readonly (readonly [string, unknown])[];
  readonly #compiled = new Map<string, CompiledQuery>();
  readonly #byKey: ReturnType<typeof rowsByKey>;

  constructor(spec: DocumentTableSpec<R>) {
    this.name = spec.name;
    this.#spec = spec;
    this.#byKey = rowsByKey(spec.name);
    this.#columns = Object.entries(spec.columns);
    this.#defaults = Object.entries(spec.defaults ?? {});
  }

  /**
   * Returns the records that match the added conditions: `table.find(tx, q => q.where('project_id', '=', p))`. Default:
   * all records. Reads the JSON only of records that are not cached.
   * @param source the session that selects the rows; default: `session`
   */
  async find(session: Session, addConditions?: (query: RowQuery) => RowQuery, source: Session = session): Promise<R[]> {
    if (addConditions) return this.read(session, await addConditions(this.selectHeads(source)).execute());
    const findAllQuery = this.#compileOnce(source, 'find', () => this.selectHeads(source));
    return this.read(session, (await source.db.executeQuery<RowHead>(findAllQuery)).rows);
  }

  /**
   * Returns a query for the rows that `read` accepts. The caller can add conditions. The query includes the JSON if
   * `includesJson` returns true.
   * @param expectedRows the maximum number of rows that the query returns; default: unlimited
   */
  selectHeads(session: Session, expectedRows = Number.POSITIVE_INFINITY): RowQuery {
    const jsonColumn = this.includesJson(session, expectedRows) ? ['data'] : [];
    return session.db.selectFrom(this.name).select(['id', 'seq', 'revision', ...jsonColumn]) as unknown as RowQuery;
  }

  /**
   * Returns whether a query should include the JSON, which saves a second query if there are few rows and most of them
   * are not cached.
   */
  includesJson(session: Session, expectedRows: number): boolean {
    return expectedRows <= READ_BATCH_SIZE && session.records.isMostlyUncached(this.name);
  }

  /**
   * Returns the records for rows that contain the identifying columns. Omits rows that were deleted in the meantime.
   * @param cachePolicy whether a record that is not cached is added to the cache on its first or on its second read
   */
  async read(
    session: Session,
    rows: readonly RowHead[],
    cachePolicy: 'first read' | 'second read' = 'first read',
  ): Promise<R[]> {
    const cachedRecords: R[] = [];
    const uncached: RowHead[] = [];
    for (const row of rows) {
      const record = this.#cachedRecord(session, row.id, row.revision);
      if (record) cachedRecords.push(record);
      else uncached.push(row);
    }
    session.records.onPageRead(this.name, uncached.length, rows.length);
    if (uncached.length === 0) return cachedRecords;
    const read = new Map<number, R>(cachedRecords.map((record) => [record.seq, record]));
    const decode = (row: Row) => read.set(row.seq, this.#decode(session, row, cachePolicy));
    const seqsToRead: number[] = [];
    for (const row of uncached) {
      if (row.data === undefined) seqsToRead.push(row.seq);
      else decode(row as Row);
    }
    for (let begin = 0; begin < seqsToRead.length; begin += READ_BATCH_SIZE) {
      if (begin > 0) await yieldToEventLoop();
      (await this.#readJson(session, seqsToRead.slice(begin, begin + READ_BATCH_SIZE))).forEach(decode);
    }
    // Omits rows that were deleted between the two queries.
    return rows.flatMap(({ seq }) => read.get(seq) ?? []);
  }

  async #readJson(session: Session, seqs: readonly number[]): Promise<readonly Row[]> {
    const parameters = [session.kind === 'postgres' ? seqs : JSON.stringify(seqs)];
    return (await this.#byKey.bySeqs(session, parameters)).rows;
  }

  #cachedRecord(session: Session, id: string, revision: number): R | undefined {
    const cached = session.records.get<R>(this.name, id);
    return cached?.revision === revision ? cached : undefined;
  }

  /** Returns the number of rows. The caller can add conditions. */
  async count(session: Session, addConditions: (query: any) => any = (q) => q): Promise<number> {
    const query = addConditions(session.db.selectFrom(this.name).select(({ fn }) => fn.countAll().as('n')));
    return Number((await query.executeTakeFirstOrThrow()).n);
  }

  async get(session: Session, id: string): Promise<R | undefined> {
    if (session.lookups) return session.lookups.find(this.name, id, (ids) => this.#getAll(session, ids));
    const cached = this.cached(session, id);
    const { rows } = await this.#byKey.one(session, [cached?.revision ?? null, id]);
    return rows[0] && (rows[0].data === null ? cached : this.#decode(session, rows[0] as Row));
  }

  /**
   * Returns records by key, with one query. Revisions are random, so a cached revision never matches another record.
   */
  async #getAll(session: Session, ids: readonly string[]): Promise<ReadonlyMap<string, R>> {
    const cached = new Map(ids.map((id) => [id, this.cached(session, id)]));
    const revisions = [...cached.values()].flatMap((record) => record?.revision ?? []);
    const { rows } = await this.#byKey.several(session, [revisions, ids]);
    return new Map(
      rows.flatMap((row): [string, R][] => {
        const record = row.data === null ? cached.get(row.id) : this.#decode(session, row as Row);
        return record ? [[row.id, record]] : [];
      }),
    );
  }

  /** Returns a record as this process last read or wrote it. Other processes may have changed it since. */
  cached(session: Session, id: string): R | undefined {
    return session.records.get<R>(this.name, id);
  }

  async bySeq(session: Session, seq: number): Promise<R | undefined> {
    const { rows } = await this.#byKey.bySeq(session, [seq]);
    return rows[0] && this.#decode(session, rows[0]);
  }

  /** Locks a record until the transaction ends, and returns it. Reads the JSON only if the cached record is stale. */
  async lock(tx: Tx, id: string): Promise<R | undefined> {
    // Waiting in a shared transaction would delay all callers, so this caller moves to a separate transaction instead.
    const addLock = (rows: RowQuery) =>
      tx.kind === 'sqlite' ? rows : tx.batch ? rows.forUpdate().noWait() : rows.forUpdate();
    const executeOne = async () => {
      const name = tx.batch ? 'lock without waiting' : 'lock';
      const query = this.#compileOnce(tx, name, () => addLock(this.selectHeads(tx).where('id', '=', '')));
      const { rows } = await tx.db.executeQuery<RowHead>({ ...query, parameters: [id] });
      return (await this.#readRecordsOfHeads(tx, rows)).get(id);
    };
    return batchStatement(tx, `lock ${this.name}`, id, executeOne, async (ids) => {
      const rows = await addLock(this.selectHeads(tx).where('id', '=', sql`any(${ids})`)).execute();
      const records = await this.#readRecordsOfHeads(tx, rows);
      return ids.map((each) => records.get(each));
    });
  }

  /**
   * Returns a record for the caller to update. A cached record is returned without a query or a lock. If it is
   * outdated, the update throws {@link StaleRecord}, and the retry reads the record.
   *
   * @param revision the revision that a cached record must have to be returned without a query; default: any. A newer
   *   cached revision may come from a transaction that was rolled back
   */
  async lockToUpdate(tx: Tx, id: string, revision?: number): Promise<R | undefined> {
    const cached = this.cached(tx, id);
    return cached && cached.revision === (revision ?? cached.revision) ? cached : this.lock(tx, id);
  }

  /** Returns records by id. Records that are not cached are read from the database. */
  async #readRecordsOfHeads(tx: Tx, heads: readonly RowHead[]): Promise<ReadonlyMap<string, R | undefined>> {
    const records = new Map(heads.map(({ id, revision }) => [id, this.#cachedRecord(tx, id, revision)]));
    const uncached = heads.flatMap(({ id, seq }) => (records.get(id) ? [] : [seq]));
    if (uncached.length === 0) return records;
    for (const row of await this.#readJson(tx, uncached)) records.set(row.id, this.#decode(tx, row));
    return records;
  }

  async insert(tx: Tx, record: New<R>): Promise<R> {
    return (await this.#insert(tx, 'insert', record, (rows) => rows.returning('seq'), '')) as R;
  }

  /** Inserts a record unless a record with the same key exists. */
  async insertIfAbsent(tx: Tx, record: New<R>): Promise<void> {
    const ignoreConflict = (rows: InsertQueryBuilder<Rows, string, unknown>) =>
      rows.onConflict((conflict) => conflict.doNothing()).returning('seq');
    await this.#insert(tx, 'insertIfAbsent', record, ignoreConflict, 'on conflict do nothing');
  }

  async #insert(
    tx: Tx,
    name: string,
    record: New<R>,
    addReturning: (rows: InsertQueryBuilder<Rows, string, unknown>) => Compilable,
    finalClauses: string,
  ): Promise<R | undefined> {
    const revision = newRevision();
    const names = ['id', 'revision', 'data', ...this.#columns.map(([column]) => column)];
    const query = this.#compileOnce(tx, name, () =>
      addReturning(tx.db.insertInto(this.name).values(Object.fromEntries(names.map((column) => [column, ''])))),
    );
    const key = this.#spec.key(record);
    this.#reportOwner(tx, record);
    const values = [key, revision, JSON.stringify(record), ...this.#columnValues(record)];
    const executeOne = async (parameters: readonly unknown[]) =>
      (await tx.db.executeQuery<Row>({ ...query, parameters })).rows[0]?.seq;
    const seq = await batchStatement(tx, `${name} ${this.name}`, values, executeOne, async (rows) => {
      const inserted = await insertRows<Row>(tx, this.name, names, rows, `${finalClauses} returning id, seq`);
      const seqs = new Map(inserted.map((row) => [row.id, row.seq]));
      return rows.map(([id]) => seqs.get(id as string));
    });
    return seq === undefined ? undefined : this.#addToCache(tx, key, { ...record, seq, revision } as unknown as R);
  }

  /**
   * Replaces the stored record that has this record's `seq` and `revision`. Only changed columns are written, because
   * databases update the indexes of every column that a statement names.
   *
   * @throws {@link StaleRecord} if the record was changed or deleted in the meantime
   */
  async update(tx: Tx, record: R): Promise<R> {
    const { seq, revision: before, ...recordFields } = record;
    const fields = recordFields as unknown as New<R>;
    const key = this.#spec.key(fields);
    const revision = newRevision();
    const cached = this.#cachedRecord(tx, key, before);
    this.#reportOwner(tx, record);
    const names = ['revision', 'data'];
    const values: ColumnValue[] = [revision, JSON.stringify(fields)];
    for (const [name, column] of this.#columns) {
      const value = toColumn(column(fields));
      if (cached && value === toColumn(column(cached))) continue;
      names.push(name);
      values.push(value);
    }
    const executeMany = async (rows: readonly (readonly unknown[])[]) => {
      const seqs = await updateRows(tx, this.name, names, rows);
      return rows.map((values) => seqs.has(values.at(-2) as number));
    };
    const executeOne = async (parameters: readonly unknown[]) => {
      if (tx.batch) return (await executeMany([parameters]))[0];
      const query = this.#compileOnce(tx, `update ${names}`, () =>
        tx.db
          .updateTable(this.name)
          .set(Object.fromEntries(names.map((name) => [name, ''])))
          .where('seq', '=', 0)
          .where('revision', '=', 0),
      );
      return (await tx.db.executeQuery({ ...query, parameters })).numAffectedRows === 1n;
    };
    const row = [...values, seq, before];
    const updated = await batchStatement(tx, `update ${this.name} ${names}`, row, executeOne, executeMany);
    if (!updated) {
      tx.records.delete(this.name, key);
      throw new StaleRecord(`${this.name} ${key} was changed by another transaction`);
    }
    return this.#addToCache(tx, key, { ...record, revision });
  }

  /** Deletes a record. Returns false if it did not exist. */
  async delete(tx: Tx, id: string): Promise<boolean> {
    this.#reportOwner(tx, this.cached(tx, id));
    const query = this.#compileOnce(tx, 'delete', () => tx.db.deleteFrom(this.name).where('id', '=', ''));
    const { numAffectedRows } = await tx.db.executeQuery({ ...query, parameters: [id] });
    return numAffectedRows === 1n;
  }

  /**
   * Reports the owner of a changed record, so that later reads by that owner include the change. The owner of a deleted
   * record is known because the cache nearly always contains the record.
   */
  #reportOwner(tx: Tx, record: object | undefined): void {
    const owner = this.#spec.sharedByAll ? ALL_PROJECTS : ownerOf(record);
    if (owner !== undefined) tx.concerns(owner);
  }

  /** Returns the compiled statement with this name. Compiles the statement on the first call. */
  #compileOnce(session: Session, name: string, build: () => Compilable): CompiledQuery {
    const key = `${session.kind} ${name}`;
    let compiled = this.#compiled.get(key);
    if (!compiled) {
      compiled = preparedQuery(build().compile());
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }

  #columnValues(record: New<R>): ColumnValue[] {
    return this.#columns.map(([, value]) => toColumn(value(record)));
  }

  /** Decodes a row's record. Records are immutable, so callers share the decoded record while it is cached. */
  #decode(session: Session, row: Row, cachePolicy: 'first read' | 'second read' = 'first read'): R {
    const cached = this.#cachedRecord(session, row.id, row.revision);
    if (cached) return cached;
    // Fields are added to the parsed object itself, which is not shared yet, because copying it would cost more than
    // parsing.
    const record: Record<string, unknown> = JSON.parse(row.data);
    for (const [name, value] of this.#defaults) if (!Object.hasOwn(record, name)) record[name] = value;
    record.seq = row.seq;
    record.revision = row.revision;
    if (cachePolicy === 'first read') return this.#addToCache(session, row.id, record as unknown as R);
    session.records.setOnSecondRead(this.name, row.id, record as unknown as R);
    return record as unknown as R;
  }

  /** Adds a record to the cache. After a rollback, this is harmless: no row will ever have the record's revision. */
  #addToCache(session: Session, id: string, record: R): R {
    session.records.set(this.name, id, record);
    return record;
  }
}

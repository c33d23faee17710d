/** The capacity of a provider in a resource class, as clients read and write it. */
export interface Inventory {
  readonly total: number;
  readonly reserved: number;
  readonly min_unit: number;
  readonly max_unit: number;
  readonly step_size: number;
  readonly allocation_ratio: number;
}

import {
  at,
  breakpointsOf,
  isWindowed,
  mergeBreakpoints,
  PerInterval,
  type Version,
  type Windowed,
  windowsOf,
} from '@apistrata/microversion';
import { type AnySchema, Described, schemaAt, Versioned } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { type RenderResponse, renderResponse } from './render-response.js';
import { kindOf, type ReplyShape } from './reply-shape.js';
import { View, type ViewField } from './view.js';

function breakpointsIn(shape: ReplyShape): readonly Version[] {
  const kind = kindOf(shape);
  if (kind.kind === 'view') return kind.view.breakpoints;
  if (kind.kind === 'schema') return kind.schema instanceof Versioned ? kind.schema.breakpoints : [];
  if (kind.kind === 'list') return breakpointsIn(kind.item);
  return kind.fields.flatMap(([, field]) => [
    ...breakpointsOf(field),
    ...windowsOf(field).flatMap(({ value }) => breakpointsIn(value)),
  ]);
}

function schemaOfField(schema: ViewField<any, any>['schema'], version: Version): z.ZodType {
  if (schema instanceof View) return schemaOfView(schema, version).optional();
  if (Array.isArray(schema)) return schemaOfView(schema[0], version).array().optional();
  return schemaAt(schema as AnySchema, version) as z.ZodType;
}

function schemaOfView(view: View<any, any>, version: Version): z.ZodType {
  const fields = view.fieldsAt(version).map(([name, { schema }, description]) => {
    const fieldSchema = schemaOfField(schema, version);
    return [name, description === undefined ? fieldSchema : fieldSchema.describe(description)] as const;
  });
  const fullSchema = z.strictObject(Object.fromEntries(fields));
  const alternative = view.alternative && at(view.alternative, version);
  return alternative ? z.union([fullSchema, schemaOfView(alternative.view, version)]) : fullSchema;
}

function schemaOfShape(shape: ReplyShape, version: Version): z.ZodType {
  if (shape instanceof Described) return schemaOfShape(shape.value, version).describe(shape.description);
  const kind = kindOf(shape);
  if (kind.kind === 'view') return schemaOfView(kind.view, version);
  if (kind.kind === 'schema') return schemaAt(kind.schema, version) as z.ZodType;
  if (kind.kind === 'list') return schemaOfShape(kind.item, version).array();
  const fields = kind.fields.flatMap(([name, windowed]) => {
    const currentShape = at(windowed, version);
    return currentShape ? [[name, schemaOfShape(currentShape, version)] as const] : [];
  });
  return z.strictObject(Object.fromEntries(fields));
}

/**
 * The response body of an operation over all versions. The renderer and the schema for each version interval are built
 * on first use.
 */
export class Reply {
  readonly breakpoints: readonly Version[];
  readonly #renders: PerInterval<RenderResponse>;
  readonly #schemas: PerInterval<z.ZodType>;

  constructor(shape: Windowed<ReplyShape>) {
    const shapes = windowsOf(shape).map(({ value }) => value);
    this.breakpoints = mergeBreakpoints([
      ...(isWindowed(shape) ? breakpointsOf(shape) : []),
      ...shapes.flatMap(breakpointsIn),
    ]);
    const shapeAt = (version: Version) => at(shape, version) ?? z.undefined();
    this.#renders = new PerInterval(this.breakpoints, (version) => renderResponse(shapeAt(version), version));
    this.#schemas = new PerInterval(this.breakpoints, (version) => schemaOfShape(shapeAt(version), version));
  }

  /** Returns the function that renders response bodies at a version. */
  render(version: Version): RenderResponse {
    return this.#renders.at(version);
  }

  /** Returns the schema of response bodies at a version. */
  schema(version: Version): z.ZodType {
    return this.#schemas.at(version);
  }
}

// @ts-nocheck: NestJS needs TypeScript's legacy decorators (`experimentalDecorators`).
import 'reflect-metadata';
import { healthcheck } from '@apistrata/healthcheck';
import { HealthcheckModule } from '@apistrata/healthcheck/nestjs';
import { at, before, since, versioning } from '@apistrata/microversion';
import { MicroversionModule } from '@apistrata/microversion/nestjs';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { quotaGuard } from '@apistrata/quota/nestjs';
import { RequestIdModule } from '@apistrata/request-id/nestjs';
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  NotFoundException,
  Param,
  Post,
  Req,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = quotaGuard({ quota, kind: 'notes', project: (req) => String(req.headers['x-account']) });

const list = [
  before('2026-11-22', (notes) => [...notes.keys()]),
  since('2026-11-22', (notes) => ({ notes: [...notes.values()] })),
];

@Controller('notes')
class NotesController {
  readonly notes = new Map();

  @Get()
  list(@Req() req) {
    return at(list, req.microversion)(this.notes);
  }

  @Post()
  @UseGuards(countNotes)
  create(@Req() req) {
    const note = { id: String(this.notes.size + 1), by: req.id };
    this.notes.set(note.id, note);
    return note;
  }

  @Delete(':id')
  @HttpCode(204)
  @UseGuards(countNotes)
  remove(@Param('id') id) {
    if (!this.notes.delete(id)) throw new NotFoundException();
  }
}

@Module({
  imports: [
    RequestIdModule.forRoot(),
    HealthcheckModule.forRoot(healthcheck()),
    MicroversionModule.forRoot(versioning({ versions: ['2025-03-01', '2026-11-22'] })),
  ],
  controllers: [NotesController],
})
class AppModule {}

async function start() {
  const app = await NestFactory.create(AppModule, { logger: false });
  app.enableShutdownHooks();
  return app.listen(Number(process.env.PORT ?? 3000));
}

export const server = start();

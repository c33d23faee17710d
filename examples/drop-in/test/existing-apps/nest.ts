// @ts-nocheck: NestJS needs TypeScript's legacy decorators; the test compiles this file with them.
import 'reflect-metadata';
import { healthcheck } from '@apistrata/healthcheck';
import { HealthcheckModule } from '@apistrata/healthcheck/nestjs';
import { versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { RequestIdModule } from '@apistrata/request-id/nestjs';
import { Catch, Controller, Delete, Get, HttpException, Injectable, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

export const log = [];

@Injectable()
class NotesService {
  notes = new Map();
}

@Controller()
class NotesController {
  constructor(readonly service: NotesService) {}

  @Get('notes')
  list() {
    return [...this.service.notes.values()];
  }

  @Post('notes')
  create(@Req() req) {
    if (!req.body.text) throw new HttpException({ error: 'text is missing' }, 400);
    const note = { id: String(this.service.notes.size + 1), text: req.body.text };
    this.service.notes.set(note.id, note);
    return note;
  }

  @Delete('notes/:id')
  remove(@Req() req, @Res() res) {
    res.status(this.service.notes.delete(req.params.id) ? 204 : 404).end();
  }

  @Get('broken')
  broken() {
    throw new Error('broken');
  }
}

@Catch()
class Failures {
  catch(error, host) {
    const body = error.getResponse?.() ?? { error: error.message };
    host
      .switchToHttp()
      .getResponse()
      .status(error.getStatus?.() ?? 500)
      .json(body);
  }
}

@Module({
  // + apistrata
  imports: [HealthcheckModule.forRoot(healthcheck()), RequestIdModule.forRoot()],
  // - apistrata
  controllers: [NotesController],
  providers: [NotesService],
})
class AppModule {}

export async function start() {
  const app = await NestFactory.create(AppModule, { logger: false });
  app.useGlobalFilters(new Failures());
  // + apistrata
  const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
  const counted = enforceQuota({ quota, kind: 'notes', project: () => 'everyone' });
  app.use('/notes', (req, res, next) => (req.method === 'GET' ? next() : counted(req, res, next)));
  app.use('/notes', versioning({ versions: ['2026-01-01', '2026-11-01'] }));
  // - apistrata
  await app.init();
  return app.getHttpAdapter().getInstance();
}

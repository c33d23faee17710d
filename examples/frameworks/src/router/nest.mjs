import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { router } from './api.mjs';

class AppModule {}

const app = await NestFactory.create({ module: AppModule }, { logger: false });
app.getHttpAdapter().get('/hello', (_req, res) => res.send('hello'));
// The router runs before the controllers, so it serves only the paths below `/notes`.
app.use((req, res, next) => (req.path.startsWith('/notes') ? router(req, res) : next()));

export const server = await app.listen(Number(process.env.PORT ?? 3000));

# syntax=docker/dockerfile:1
# The reference server. docker build -t apistrata .   How to run it: docs/operating.md

FROM node:24-alpine AS build
WORKDIR /src
COPY . .
RUN node scripts/install-program.mjs server /app

# Node without npm, and the PostgreSQL programs that backups need.
FROM alpine:3.22
RUN apk add --no-cache libstdc++ postgresql17-client \
  && adduser -D -H -u 10001 apistrata \
  && install -d -o apistrata -g apistrata -m 0700 /data
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app /app
RUN ln -s /app/dist/main.js /usr/local/bin/apistrata

ENV NODE_ENV=production \
  APISTRATA_HOST=0.0.0.0 \
  APISTRATA_PORT=8774 \
  APISTRATA_DB=/data/compute.db
WORKDIR /data
VOLUME /data
EXPOSE 8774
USER 10001:10001
# Checks whether the server serves requests. An unavailable external service must not end the container.
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s \
  CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8774/livez"]
STOPSIGNAL SIGTERM
# The program is the first process: it receives SIGTERM and SIGHUP itself.
ENTRYPOINT ["apistrata"]

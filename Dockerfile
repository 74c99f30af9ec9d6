# docker build -t clearway . && docker run -e MYSQL_ROOT_PASSWORD=secret -p 3306:3306 clearway
#
# The environment variables, the folder of first scripts and the places of data and option files are those of MySQL's official image
# (packaging/docker-entrypoint.sh has the list), so that a Compose file needs another image name and nothing else.

FROM rust:1.88-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --release --locked && strip --strip-debug -o /clearway target/release/clearway

FROM debian:bookworm-slim
# The client runs the statements of the first start; the server reads the time zones of the system.
RUN apt-get update \
    && apt-get install -y --no-install-recommends mariadb-client-core tzdata bzip2 xz-utils zstd \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 999 --user-group --no-create-home --home-dir /var/lib/mysql --shell /usr/sbin/nologin clearway \
    && install -d -o clearway -g clearway -m 0750 /var/lib/mysql \
    && install -d -o clearway -g clearway -m 0755 /var/run/mysqld \
    && install -d /etc/mysql/conf.d /docker-entrypoint-initdb.d
COPY --from=build /clearway /usr/local/bin/clearway
COPY packaging/docker.cnf /etc/mysql/my.cnf
COPY packaging/docker-entrypoint.sh /usr/local/bin/
USER clearway
VOLUME /var/lib/mysql
EXPOSE 3306
STOPSIGNAL SIGTERM
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["clearway", "serve"]

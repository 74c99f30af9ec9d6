//! SET GLOBAL of what the buffer pool obeys: bounds that are other variables, with MySQL's warnings.

mod common;

use common::{Client, TestServer};

fn warnings(client: &mut Client) -> Vec<String> {
    let rows = client.rows("SHOW WARNINGS");
    rows.into_iter()
        .map(|row| row.into_iter().map(|cell| cell.unwrap_or_default()).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn variables_that_bound_each_other_agree() {
    let server = TestServer::new();
    let mut client = server.root();
    client.run("SET GLOBAL innodb_io_capacity = 5000");
    assert_eq!(warnings(&mut client), [""; 0]);
    client.run("SET GLOBAL innodb_io_capacity = 30000");
    assert_eq!(
        warnings(&mut client),
        [
            "Warning 1210 Setting innodb_io_capacity 30000 higher than innodb_io_capacity_max 20000",
            "Warning 1210 Setting innodb_max_io_capacity to 60000"
        ]
    );
    assert_eq!(client.value("SELECT @@innodb_io_capacity_max"), "60000");
    client.run("SET GLOBAL innodb_io_capacity_max = 1000");
    assert_eq!(client.value("SELECT @@innodb_io_capacity"), "1000");
    client.run("SET GLOBAL innodb_max_dirty_pages_pct = 5");
    assert_eq!(client.value("SELECT @@innodb_max_dirty_pages_pct_lwm"), "5.000000");
    client.run("SET GLOBAL innodb_max_dirty_pages_pct_lwm = 80");
    assert_eq!(
        warnings(&mut client),
        [
            "Warning 1210 innodb_max_dirty_pages_pct_lwm cannot be set higher than innodb_max_dirty_pages_pct.",
            "Warning 1210 Setting innodb_max_dirty_page_pct_lwm to 5.000000"
        ]
    );
    drop(client);
    server.close();
}
